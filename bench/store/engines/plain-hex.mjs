// The same, with the values as text, as the service needs them.
import { openPlain } from './plain.mjs'

const hex = (column) => `'0x' || lower(hex(${column}))`

export const open = (folder) =>
  openPlain(
    folder,
    ['block', 'log_index', ...['topic0', 'topic1', 'topic2', 'data'].map(hex)].join(', '),
    (value) => `${value}`,
  )
