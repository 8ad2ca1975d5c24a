// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {Dice} from "./Dice.sol";

contract Coin is ERC20("Coin", "COIN"), Dice {
    constructor(uint256 seed) Dice(seed) {
        _mint(holder(2), 2 ** 255);
    }

    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    function churn(uint256 rounds) external {
        for (uint256 round = 0; round < rounds; round++) {
            uint256 kind = roll(8);
            address from = anyone();
            if (kind == 0) _mint(from, roll(10 ** 30));
            else if (kind == 1) _burn(from, portion(balanceOf(from)));
            else _transfer(from, kind == 2 ? from : anyone(), portion(balanceOf(from)));
        }
    }
}

/// Gives a balance to one account without an event, as a rebasing or a badly written token does.
contract Silent is ERC20("Silent", "HUSH") {
    constructor(address rich, uint256 value) {
        _mint(msg.sender, 10 ** 24);
        bytes32 slot = keccak256(abi.encode(rich, uint256(0)));
        assembly {
            sstore(slot, value)
        }
    }
}
