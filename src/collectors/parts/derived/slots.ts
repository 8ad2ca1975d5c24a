/** Rounds that the agent saw end, since it began. */
export interface Slots {
  readonly rounds: number
  readonly timeouts: number
  readonly ownBlocks: number
  readonly ownTimeouts: number
}

/** Whose turn it was, and how it ended. */
interface Round {
  readonly isTimeout: boolean
  readonly isOwn: boolean
}

/** Counts rounds and own turns as the ledger stream tells them; whoever judges the duties reads it. */
export interface SlotCount {
  saw(round: Round): void
  /** Undefined until a round was seen. */
  read(): Slots | undefined
}

export const createSlotCount = (): SlotCount => {
  let slots: Slots | undefined
  return {
    saw: ({ isTimeout, isOwn }) => {
      const before = slots ?? { rounds: 0, timeouts: 0, ownBlocks: 0, ownTimeouts: 0 }
      slots = {
        rounds: before.rounds + 1,
        timeouts: before.timeouts + (isTimeout ? 1 : 0),
        ownBlocks: before.ownBlocks + (isOwn && !isTimeout ? 1 : 0),
        ownTimeouts: before.ownTimeouts + (isOwn && isTimeout ? 1 : 0),
      }
    },
    read: () => slots,
  }
}
