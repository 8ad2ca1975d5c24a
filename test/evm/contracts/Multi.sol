// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {Dice} from "./Dice.sol";

contract Multi is ERC1155(""), Dice {
    uint256 private constant KINDS = 6;

    constructor(uint256 seed) Dice(seed) {}

    function mint(address to, uint256 id, uint256 value) external {
        _mint(to, id, value, "");
    }

    /// One id or many, none at all, the same twice: minted, moved or burned.
    function churn(uint256 rounds) external {
        for (uint256 round = 0; round < rounds; round++) {
            uint256 length = roll(2) == 0 ? 1 : roll(5);
            uint256 kind = roll(6);
            address from = kind < 2 ? address(0) : anyone();
            address to = kind == 2 ? address(0) : kind == 3 ? from : anyone();
            uint256[] memory ids = new uint256[](length);
            uint256[] memory values = new uint256[](length);
            for (uint256 place = 0; place < length; place++) {
                ids[place] = token(roll(KINDS));
                values[place] = from == address(0) ? roll(10 ** 27) : portion(balanceOf(from, ids[place]) / length);
            }
            _update(from, to, ids, values);
        }
    }
}
