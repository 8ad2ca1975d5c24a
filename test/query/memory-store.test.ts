import { memoryStore } from '../support/memory-store.ts'
import { storeContract } from './store.contract.ts'

// The oracle of the real stores keeps their contract itself.
storeContract(
  'the naive filter in memory',
  () => Promise.resolve({ open: () => Promise.resolve(memoryStore()), remove: () => Promise.resolve() }),
  { durable: false },
)
