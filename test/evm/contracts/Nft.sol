// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Consecutive} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Consecutive.sol";
import {Dice} from "./Dice.sol";

contract Nft is ERC721("Nft", "NFT"), Dice {
    constructor(uint256 seed) Dice(seed) {}

    function mint(address to, uint256 id) external {
        _mint(to, id);
    }

    /// What nobody owns is minted, also once more; what somebody owns is moved or burned.
    function churn(uint256 rounds) external {
        for (uint256 round = 0; round < rounds; round++) {
            uint256 id = token(roll(TOKENS));
            address owner = _ownerOf(id);
            bool burns = owner != address(0) && roll(5) == 0;
            address to = burns ? address(0) : roll(8) == 0 && owner != address(0) ? owner : anyone();
            _update(to, id, address(0));
        }
    }
}

/// Begins with 5 * 400 tokens by ERC-2309: one event for 400.
contract Edition is ERC721Consecutive, Dice {
    uint96 private constant BATCH = 400;

    constructor(uint256 seed) ERC721("Edition", "ED") Dice(seed) {
        for (uint256 batch = 2; batch < 7; batch++) _mintConsecutive(holder(batch), BATCH);
    }

    function churn(uint256 rounds) external {
        for (uint256 round = 0; round < rounds; round++) {
            uint256 id = roll(5 * uint256(BATCH));
            if (_ownerOf(id) != address(0)) _update(roll(6) == 0 ? address(0) : anyone(), id, address(0));
        }
    }
}
