/** Rounds that the agent saw end, since it began. */
export interface Slots {
  readonly rounds: number
  readonly timeouts: number
  /** Those of which we knew whether they were our own: before, who we are was not known. */
  readonly judged: number
  readonly ownBlocks: number
  readonly ownTimeouts: number
}

/** Whose turn it was, and how it ended. */
interface Round {
  readonly isTimeout: boolean
  /** Null while we do not know who we are. */
  readonly isOwn: boolean | null
}

/** Counts rounds and own turns as the ledger stream tells them; whoever judges the duties reads it. */
export interface SlotCount {
  saw(round: Round): void
  /** Undefined until a round was seen. */
  read(): Slots | undefined
}

const NONE: Slots = { rounds: 0, timeouts: 0, judged: 0, ownBlocks: 0, ownTimeouts: 0 }

export const createSlotCount = (): SlotCount => {
  let slots: Slots | undefined
  return {
    saw: ({ isTimeout, isOwn }) => {
      const before = slots ?? NONE
      slots = {
        rounds: before.rounds + 1,
        timeouts: before.timeouts + (isTimeout ? 1 : 0),
        judged: before.judged + (isOwn === null ? 0 : 1),
        ownBlocks: before.ownBlocks + (isOwn === true && !isTimeout ? 1 : 0),
        ownTimeouts: before.ownTimeouts + (isOwn === true && isTimeout ? 1 : 0),
      }
    },
    read: () => slots,
  }
}
