// Interface of a verilated fabric to the harness: words on ports and a clock.
//
// The harness is compiled once and knows no design. The Verilator side (mesh.cpp or pieces.cpp)
// is compiled for each design. They share only this interface.
#ifndef MESHKV_MODEL_H
#define MESHKV_MODEL_H

#include <cstdint>
#include <memory>
#include <string>

#include "shim.h"

namespace meshkv {

// The packed ports as words; tile t of a port with W bits per tile is [t*W +: W]. Pointers stay
// valid as long as the model.
struct Ports {
    uint32_t* rx_valid;
    uint32_t* rx_dest;
    uint32_t* rx_head;
    uint32_t* rx_data;
    uint32_t* tx_credit;
    const uint32_t* rx_credit;
    const uint32_t* tx_valid;
    const uint32_t* tx_head;
    const uint32_t* tx_data;
    const uint32_t* vc_busy;
    const uint32_t* stat_index;
    const uint32_t* stat_data;
};

class Model {
  public:
    virtual ~Model() = default;

    // Runs one period, up to and including the rising edge that ends it.
    virtual void tick(bool rst) = 0;
    // True once the model has stopped; then it must not tick again.
    virtual bool stopped() const = 0;
    // Its output, and the reason why it stopped.
    virtual std::string message() const = 0;
    // Restarts time at 0.
    virtual void restart_time() = 0;
    // Opens a wave file; an empty result is success.
    virtual std::string wave_start(const char* path) = 0;
    virtual void wave_stop() = 0;
    // Records of all links, see meshkv_links; false if the model cannot show them.
    virtual bool show_links(uint32_t*) const { return false; }
    // Sets the clocks from the next period on; false if there is one clock.
    virtual bool set_clocks(const meshkv_clocks&) { return false; }

    // Inverts a bit of the payload of a flit, by its number on the link into a tile from a side: 0 north, 1 south,
    // 2 east, 3 west. False if the model has no such link of its own.
    virtual bool flip(uint32_t, uint32_t, uint64_t, uint32_t) { return false; }
    // True once that flit has come.
    virtual bool flipped() const { return false; }

    const Ports& ports() const { return ports_; }
    // The words of any port by its name; null if there is none, or if only ports() are
    // available.
    virtual uint32_t* port(const char*) { return nullptr; }

  protected:
    Ports ports_{};
};

const meshkv_geometry& model_geometry();
std::unique_ptr<Model> make_model(uint64_t seed);

}  // namespace meshkv

#endif
