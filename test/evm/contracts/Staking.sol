// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// The read functions of the staking precompile, over the storage layout of the node: a test sets slots, and eth_call
/// and eth_getStorageAt report the same state.
contract Staking {
    uint256 constant PAGE = 100;

    function getEpoch() external view returns (uint64, bool) {
        return (left(word(1)), word(2) != 0);
    }

    function getConsensusValidatorSet(uint32 start) external view returns (bool, uint32, uint64[] memory) {
        return page(1 << 248, start);
    }

    function getSnapshotValidatorSet(uint32 start) external view returns (bool, uint32, uint64[] memory) {
        return page(2 << 248, start);
    }

    function getExecutionValidatorSet(uint32 start) external view returns (bool, uint32, uint64[] memory) {
        return page(3 << 248, start);
    }

    function getValidator(uint64 id) external view {
        uint256 execution = (9 << 248) | (uint256(id) << 184);
        uint256 consensus = (4 << 248) | (uint256(id) << 184);
        uint256 snapshot = (5 << 248) | (uint256(id) << 184);
        uint256 auth = word(execution + 6);
        bytes memory keys = bytes.concat(one(execution + 3), one(execution + 4), one(execution + 5));
        bytes memory head = abi.encode(auth >> 96, (auth >> 32) & type(uint64).max, word(execution), word(execution + 1));
        head = bytes.concat(head, one(execution + 2), one(execution + 7), one(consensus), one(consensus + 1));
        head = bytes.concat(head, one(snapshot), one(snapshot + 1), abi.encode(0x180, 0x1e0, 33));
        done(bytes.concat(head, slice(keys, 0, 33), abi.encode(48), slice(keys, 33, 48)));
    }

    function getDelegator(uint64 id, address delegator) external view {
        uint256 slot = (12 << 248) | (uint256(id) << 184) | (uint256(uint160(delegator)) << 24);
        uint256 epochs = word(slot + 5);
        bytes memory amounts = bytes.concat(one(slot), one(slot + 1), one(slot + 2), one(slot + 3), one(slot + 4));
        done(bytes.concat(amounts, abi.encode(epochs >> 192, (epochs >> 128) & type(uint64).max)));
    }

    function getWithdrawalRequest(uint64 id, address delegator, uint8 request) external view {
        uint256 slot = (13 << 248) | (uint256(id) << 184) | (uint256(uint160(delegator)) << 24) | (uint256(request) << 8);
        done(abi.encode(word(slot), word(slot + 1), word(slot + 2) >> 192));
    }

    function word(uint256 slot) private view returns (uint256 value) {
        assembly {
            value := sload(slot)
        }
    }

    function one(uint256 slot) private view returns (bytes memory) {
        return abi.encode(word(slot));
    }

    function left(uint256 value) private pure returns (uint64) {
        return uint64(value >> 192);
    }

    function page(uint256 set, uint32 start) private view returns (bool, uint32, uint64[] memory ids) {
        uint256 length = left(word(set));
        uint256 end = start + PAGE < length ? start + PAGE : length;
        ids = new uint64[](start < end ? end - start : 0);
        for (uint256 index = 0; index < ids.length; index++) ids[index] = left(word(set + 1 + start + index));
        return (start + ids.length >= length, uint32(start + ids.length), ids);
    }

    /// The bytes from there on, padded to 64.
    function slice(bytes memory from, uint256 begin, uint256 length) private pure returns (bytes memory part) {
        part = new bytes(64);
        for (uint256 index = 0; index < length; index++) part[index] = from[begin + index];
    }

    function done(bytes memory out) private pure {
        assembly {
            return(add(out, 32), mload(out))
        }
    }
}
