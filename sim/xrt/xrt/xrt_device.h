#pragma once
#include "../fake.hpp"
