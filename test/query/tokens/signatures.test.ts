import { expect, test } from 'vitest'
import { topicOf, topicsOf } from '../../../query/tokens/signatures.ts'
import { TOPIC } from './pages.ts'

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
