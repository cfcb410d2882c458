// The filter of this assignment, in constant memory: 5 by 5 whole numbers, no two of them equal.
//
// Include this file and use FILTER as it is; nobody may write to it.
#pragma once

#define FILTER_RADIUS 2
#define FILTER_SIZE (2 * FILTER_RADIUS + 1)

__constant__ float FILTER[FILTER_SIZE][FILTER_SIZE] = {
    {  1.0f, -7.0f,   4.0f,  9.0f,  -2.0f},
    {-11.0f,  3.0f,  12.0f, -5.0f,   8.0f},
    {  6.0f, 10.0f,  13.0f, -9.0f,  -4.0f},
    { -1.0f,  7.0f,  -8.0f, 11.0f,   5.0f},
    {  2.0f, -3.0f, -10.0f, -6.0f, -12.0f},
};
