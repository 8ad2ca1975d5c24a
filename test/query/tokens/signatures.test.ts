import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatUnits, toChecksumAddress, topicOf, topicsOf } from '../../../query/tokens/signatures.ts'
import { TOPIC } from './pages.ts'

test.each([
  // From the text of EIP-55.
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
])('checksum of %s', (address) => {
  expect(toChecksumAddress(address.toLowerCase())).toBe(address)
  expect(toChecksumAddress(address)).toBe(address)
})

test.each([
  [0n, 18, '0'],
  [1n, 18, '0.000000000000000001'],
  [10n ** 18n, 18, '1'],
  [1_500_000n, 6, '1.5'],
  [-1_500_000n, 6, '-1.5'],
  [-1n, 2, '-0.01'],
  [12n, 0, '12'],
  [100n, 0, '100'],
  [2n ** 256n - 1n, 0, '115792089237316195423570985008687907853269984665640564039457584007913129639935'],
] as const)('%s with %i decimals is %s', (amount, decimals, text) => {
  expect(formatUnits(amount, decimals)).toBe(text)
})

test('formatting is exact', () => {
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 280n), 2n ** 280n), fc.nat(80), (amount, decimals) => {
      const [whole = '', fraction = ''] = formatUnits(amount, decimals).split('.')
      expect(BigInt(whole + fraction.padEnd(decimals, '0'))).toBe(amount)
    }),
    { seed: 9 },
  )
})

test('topics are the published hashes', () => {
  expect(topicOf('Approval(address,address,uint256)')).toBe(
    '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
  )
  expect(topicsOf('erc20')).toEqual([TOPIC.transfer])
  expect(topicsOf('erc721')).toEqual([TOPIC.transfer, TOPIC.consecutive])
  expect(topicsOf('erc1155')).toEqual([TOPIC.single, TOPIC.batch])
  expect(topicsOf('erc20', 'weth')).toEqual([TOPIC.transfer, TOPIC.deposit, TOPIC.withdrawal])
  expect(topicsOf('erc721', 'punks')).toEqual([TOPIC.transfer, TOPIC.assign, TOPIC.punkTransfer, TOPIC.punkBought])
})
