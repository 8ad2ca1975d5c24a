import { leftIn, openOutput } from '../query/output.ts'
import { type Io, writeAll } from '../../cli/io.ts'
import { wrap } from '../../cli/terminal/layout.ts'
import { createStyle } from '../../cli/terminal/style.ts'
import type { Options } from './options.ts'
import { remarksOf } from './remarks.ts'
import { csvOf, jsonOf, type Look, tableOf } from './render.ts'

/** Writes the balances where they were asked for, and on standard error what has to be known of them. */
export const show = async (io: Io, options: Options, look: Look): Promise<void> => {
  const { format, output } = options
  const style = createStyle(io)
  const remarks = [...remarksOf(look), ...endOf(options, look)]
  const lacksMark = format === 'csv' && !look.rebuilt.complete
  if (lacksMark) {
    remarks.push(
      'Nothing was written: CSV has no place for that. Say --format json to have what there is.',
    )
  } else {
    const out =
      output === undefined
        ? { append: (text: string) => writeAll(io, text) }
        : await openOutput(output)
    const page = () => tableOf(look, style, options.lines).map((line) => `${line}\n`)
    for (const text of inChunks(
      { csv: () => csvOf(look), json: () => jsonOf(look), table: page }[format](),
    )) {
      await out.append(text)
    }
    if ('finish' in out && output !== undefined) {
      if (look.rebuilt.complete) await out.finish()
      else {
        // What is there may be all of an earlier day.
        await out.close()
        remarks.push(`What there is stands in ${leftIn(output)}, and ${output} is as it was.`)
      }
    }
  }
  io.stderr.write(
    remarks
      .flatMap((remark) => wrap(remark, createStyle({ ...io, stdout: io.stderr })))
      .map((line) => `${line}\n`)
      .join(''),
  )
}

/** Which block it is of, where the output does not say; and that it is another than was asked for. */
const endOf = (
  { format, output, toBlock = 0 }: Options,
  { rebuilt: { complete, through } }: Look,
): readonly string[] => {
  const isCut = toBlock > through
  if (!complete || !(isCut || format === 'csv' || output !== undefined)) return []
  return [
    `Through block ${through}${isCut ? `, not ${toBlock}: the service had no more yet` : ''}.`,
  ]
}

const CHUNK = 1 << 16

/** Many short texts as fewer long ones. */
function* inChunks(texts: Iterable<string>): Generator<string> {
  let chunk = ''
  for (const text of texts) {
    chunk += text
    if (chunk.length < CHUNK) continue
    yield chunk
    chunk = ''
  }
  yield chunk
}
