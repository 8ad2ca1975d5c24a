import { afterEach, beforeEach, describe } from 'vitest'
import type { LogStore, StoreIdentity } from '../../query/store/store.ts'
import { IDENTITY } from '../support/store-cases.ts'
import { readingContract } from './store-reading.contract.ts'
import { writingContract } from './store-writing.contract.ts'

/** Where a store lies, for the time of one test. */
export interface Place {
  /** Opens what lies here, and makes it where there is nothing. Opened by one at a time. */
  open(identity: StoreIdentity): Promise<LogStore>
  remove(): Promise<void>
}

interface Kind {
  /** What was written outlives a close. */
  readonly durable: boolean
  /** Of the random chains that are read; where each page takes long, fewer. */
  readonly seeds?: readonly number[]
}

/** What every store has to do. */
export const storeContract = (
  name: string,
  newPlace: () => Promise<Place>,
  { durable, seeds = [11, 12, 13] }: Kind = { durable: true },
): void => {
  describe(`the store of ${name}`, () => {
    let place: Place
    let store: LogStore | undefined
    const close = async (): Promise<void> => {
      const closing = store
      store = undefined
      await closing?.close()
    }
    beforeEach(async () => {
      place = await newPlace()
      store = await place.open(IDENTITY)
    })
    afterEach(async () => {
      await close()
      await place.remove()
    })
    const bench = {
      store: (): LogStore => {
        if (store === undefined) throw new Error('no store is open')
        return store
      },
      durable,
      reopen: async (identity: StoreIdentity): Promise<void> => {
        await close()
        store = await place.open(identity)
      },
      renew: async (identity: StoreIdentity): Promise<void> => {
        await close()
        await place.remove()
        place = await newPlace()
        store = await place.open(identity)
      },
    }
    readingContract(bench, seeds)
    writingContract(bench)
  })
}
