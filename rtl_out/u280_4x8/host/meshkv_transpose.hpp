// Transposes blocks of elements, for values of a prompt: tiles that stay in vector registers, interleaved until rows are columns.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace meshkv {

template <typename Element>
class Tile {
public:
    static constexpr size_t SIZE = 16 / sizeof(Element);  // Rows, and elements of a row: a vector of 16 bytes.

    // Writes the columns of SIZE rows: rows lie `from_stride` elements apart, columns `to_stride`.
    static void transpose(Element *to, size_t to_stride, const Element *from, size_t from_stride) {
        Rows rows;
        for (size_t at = 0; at < SIZE; ++at) std::memcpy(&rows.of[at], from + at * from_stride, sizeof(Vector));
        rows = interleaved<SIZE>(rows);
        for (size_t at = 0; at < SIZE; ++at) std::memcpy(to + at * to_stride, &rows.of[at], sizeof(Vector));
    }

private:
    typedef Element Vector __attribute__((vector_size(16)));
    struct Rows {
        Vector of[SIZE];
    };

    // The elements of two vectors in turn: of their lower halves, or their upper ones.
    template <size_t HALF, size_t... AT>
    static Vector in_turn(Vector a, Vector b, std::index_sequence<AT...>) {
#ifdef __clang__
        return __builtin_shufflevector(a, b, (HALF * SIZE / 2 + AT / 2 + AT % 2 * SIZE)...);
#else
        return __builtin_shuffle(a, b, Vector{static_cast<Element>(HALF * SIZE / 2 + AT / 2 + AT % 2 * SIZE)...});
#endif
    }

    template <size_t... PAIR>
    static Rows round(const Rows &in, std::index_sequence<PAIR...>) {
        Rows out;
        constexpr auto all = std::make_index_sequence<SIZE>();
        ((out.of[2 * PAIR] = in_turn<0>(in.of[PAIR], in.of[PAIR + SIZE / 2], all), out.of[2 * PAIR + 1] = in_turn<1>(in.of[PAIR], in.of[PAIR + SIZE / 2], all)), ...);
        return out;
    }

    // After each round twice as many elements of a column lie side by side.
    template <size_t LEFT>
    static Rows interleaved(const Rows &rows) {
        if constexpr (LEFT == 1) return rows;
        else return interleaved<LEFT / 2>(round(rows, std::make_index_sequence<SIZE / 2>()));
    }
};

// Writes `rows` times `columns` elements as columns of `to`.
template <typename Element>
void transpose(Element *to, size_t to_stride, const Element *from, size_t from_stride, size_t rows, size_t columns) {
    constexpr size_t size = Tile<Element>::SIZE;
    const size_t whole_rows = rows / size * size, whole_columns = columns / size * size;
    for (size_t column = 0; column < whole_columns; column += size)
        for (size_t row = 0; row < whole_rows; row += size)
            Tile<Element>::transpose(to + column * to_stride + row, to_stride, from + row * from_stride + column, from_stride);
    for (size_t column = 0; column < columns; ++column)
        for (size_t row = column < whole_columns ? whole_rows : 0; row < rows; ++row) to[column * to_stride + row] = from[row * from_stride + column];
}

}  // namespace meshkv
