import { pairs } from '../../cli/terminal/layout.ts'
import type { Style } from '../../cli/terminal/style.ts'

/** Of a keystore of the first version. */
export const LEGACY =
  'a keystore of the first version, which cannot be made anew from this backup: keep a copy of the keystore file itself and of its password, too'

/** A headline, and what belongs to it. */
export const page = (
  headline: string,
  style: Style,
  rows: readonly (readonly [label: string, value: string])[],
): string =>
  [headline, ...pairs(rows, style, '    ')].map((line) => `${style.plain(line)}\n`).join('')
