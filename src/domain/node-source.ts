/**
 * Where the node's source produces a signal. Facts only: `npm run compare-source` looks for the signal there.
 */
export interface NodeSource {
  /** Repository and path in it, for example `monad-bft/monad-node/src/state.rs`. */
  readonly file: string
  /** Name of the function, method or macro in that file. */
  readonly function: string
  /** own: caused by the state of this node; received: messages of other nodes alone can cause it. */
  readonly cause: 'own' | 'received'
}

const sourcesWith =
  (cause: NodeSource['cause']) =>
  (file: string, ...functions: readonly string[]): readonly NodeSource[] =>
    functions.map((name) => ({ file, function: name, cause }))

/** Functions of one file, in which the state of this node causes the signal. */
export const own = sourcesWith('own')
/** Functions of one file, in which messages of other nodes alone can cause the signal. */
export const received = sourcesWith('received')
