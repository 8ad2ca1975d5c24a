import { directiveTable, set } from './scenario/directives.ts'

export const formatDirectives = directiveTable({
  'formats drift': ['reports, ledger stream and logs of the node use unknown keywords', set({ formatsDrift: true })],
  'formats return': ['every output has its usual format again', set({ formatsDrift: false })],
})

/** `round` becomes `new_round`. */
const renaming =
  (keyword: RegExp) =>
  (text: string): string =>
    text.replaceAll(keyword, 'new_$&')

/** The keywords of each output: every value is still printed, under unknown keywords. */
export const drift = {
  mpt: renaming(/[A-Za-z]{4,}|%/g),
  /** The keys of the report, except those of its section `config`. */
  status: renaming(
    /(?<=^ *)(?!(?:hostname|date|config|network|chain\w*|\w+PublicKey|nodeSignature|selfAddress|recordSeqNum):)[A-Za-z][\w-]*(?=:)/gm,
  ),
  /** The names of metrics, without the name prefix. */
  native: renaming(/^\w/g),
  /** The fields of a line of JSON, but not its message. */
  jsonLog: renaming(/(?<=")(?!(?:timestamp|level|fields|message|target)":)\w+(?=":)/g),
  /** The words after the first number of a message: those before it stay known. */
  executionMessage: renaming(/(?<=\d.*[ ,])[a-z]\w*(?= |=)/g),
} as const
