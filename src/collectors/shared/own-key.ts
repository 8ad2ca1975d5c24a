/** The node's secp public key, as soon as anything has told it. */
export interface OwnKey {
  /** 66 hex digits in lower case; null while it is not known. */
  get(): string | null
  /** The status report tells it, too; what the operator has configured stands. */
  learn(key: string | null): void
}

export const createOwnKey = (configured: string | null): OwnKey => {
  let key = configured
  return {
    get: () => key,
    learn: (told) => {
      if (configured === null && told !== null) key = told.replace(/^0x/, '').toLowerCase()
    },
  }
}
