// Balances in a Map of BigInt: the simplest implementation.
const ZERO = `0x${'0'.repeat(40)}`

export const balances = () => {
  const map = new Map()
  const add = (address, value) => {
    if (address !== ZERO) map.set(address, (map.get(address) ?? 0n) + value)
  }
  return {
    transfer: (from, to, value) => {
      add(from, -value)
      add(to, value)
    },
    rows: () =>
      [...map]
        .filter(([, balance]) => balance !== 0n)
        .sort(([, one], [, other]) => (one < other ? 1 : one > other ? -1 : 0))
        .map(([address, balance]) => [address.toLowerCase(), balance]),
  }
}

export const addressOf = (topic) => `0x${topic.slice(-40).toLowerCase()}`

export const ABI = [
  {
    type: 'event',
    name: 'Transfer',
    inputs: [
      { name: 'from', type: 'address', indexed: true },
      { name: 'to', type: 'address', indexed: true },
      { name: 'value', type: 'uint256', indexed: false },
    ],
  },
]
