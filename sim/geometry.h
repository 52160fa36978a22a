// Geometry of the library's design; included by the one unit that makes its model.
#ifndef MESHKV_GEOMETRY_H
#define MESHKV_GEOMETRY_H

#include "dut_config.h"
#include "model.h"

namespace meshkv {

const meshkv_geometry& model_geometry() {
    static const meshkv_geometry geometry = {
        MESHKV_ABI,        MESHKV_TILES,      MESHKV_VCS,        MESHKV_VC_DEPTH,
        MESHKV_DEST_WIDTH, MESHKV_HEAD_WIDTH, MESHKV_FLIT_WIDTH, MESHKV_TRACED,
        MESHKV_CLOCKS};
    return geometry;
}

}  // namespace meshkv

#endif
