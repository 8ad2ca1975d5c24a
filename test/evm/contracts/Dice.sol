// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Chance from a seed: the same history in every run. Who and what is drawn follows from its number, so that a test can
/// name all of it without asking.
abstract contract Dice {
    uint256 internal constant HOLDERS = 400;
    uint256 internal constant TOKENS = 600;
    uint256 private constant SPREAD = 0x9E3779B97F4A7C15F39CC0605CEDC8341082276BF3A27251F86C6A11D0C18E95;

    uint256 private state;

    constructor(uint256 seed) {
        state = seed;
    }

    function holder(uint256 number) public view returns (address) {
        if (number == 0) return address(this);
        if (number == 1) return address(0xdead);
        unchecked {
            return address(uint160(number * SPREAD));
        }
    }

    /// Small, huge, and the two ends.
    function token(uint256 number) public pure returns (uint256) {
        if (number == 1) return type(uint256).max;
        unchecked {
            return number % 2 == 0 ? number : number * SPREAD;
        }
    }

    function roll(uint256 sides) internal returns (uint256) {
        state = uint256(keccak256(abi.encode(state)));
        return state % sides;
    }

    function anyone() internal returns (address) {
        return holder(roll(HOLDERS));
    }

    /// Often nothing, often all.
    function portion(uint256 whole) internal returns (uint256) {
        uint256 side = roll(8);
        if (side == 0) return 0;
        return side == 1 ? whole : roll(whole + 1);
    }
}
