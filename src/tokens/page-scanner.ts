import { type Page } from '../query/client/types.ts'
import { type Field, learnLayout } from './log-layout.ts'
import { foursOf, LogReader } from './log-reader.ts'
import { PlainJson } from './plain-json.ts'

/** Takes logs out of a page one by one; nothing may be booked before the page's end. */
export interface PlainLogs {
  begin(view: DataView): void
  /** False where a log is not wholly plain for the standard. */
  take(log: LogReader): boolean
}

/**
 * Finds the logs of a page in its bytes, without parsing them, where all of it is plain: one layout,
 * numbers as numbers, each log of the contract and the events asked for, in range, in order, once.
 */
export class PageScanner {
  readonly #json = new PlainJson()
  readonly #log: LogReader
  readonly #logs: PlainLogs
  #layout: readonly Field[] | undefined
  #next = 0

  constructor(contract: string, topics: readonly string[], logs: PlainLogs) {
    const events = topics.map((topic) => foursOf(topic.slice(2)))
    this.#log = new LogReader(this.#json, { contract: foursOf(contract.slice(2)), events })
    this.#logs = logs
  }

  scan({ body, from, next }: Page): boolean {
    const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
    this.#json.bytes = body
    this.#json.position = 0
    this.#log.view = view
    this.#log.block = from
    this.#log.index = -1
    this.#layout = undefined
    this.#next = next
    this.#logs.begin(view)
    return this.#pages() && this.#json.isAtEnd()
  }

  #pages(): boolean {
    let times = 0
    const isPlain = this.#json.members((name) => {
      if (name !== 'data') return this.#json.skip()
      times += 1
      return times === 1 && this.#json.elements(() => this.#batch())
    })
    return isPlain && times === 1
  }

  #batch(): boolean {
    let times = 0
    return this.#json.members((name) => {
      if (name !== 'logs') return this.#json.skip()
      times += 1
      return times === 1 && this.#json.elements(() => this.#take())
    })
  }

  #take(): boolean {
    const log = this.#log
    const { block, index } = log
    if (this.#layout === undefined) {
      const start = this.#json.position
      this.#layout = learnLayout(this.#json)
      if (this.#layout === undefined) return false
      this.#json.position = start
    }
    if (!log.read(this.#layout)) return false
    const follows = log.block > block || (log.block === block && log.index > index)
    return follows && log.block < this.#next && this.#logs.take(log)
  }
}
