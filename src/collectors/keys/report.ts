import { z } from 'zod'
import { tryJson } from '../../core/json.ts'
import { ParseError } from '../../core/errors.ts'
import { KEY_KINDS, KEY_STATES, KEYS } from './definition.ts'
import type { ReadReport } from '../../sources/reports.ts'
import { createKeyExaminer, type ExamineKeys, type KeyExaminerOptions, type KeyFile } from './files.ts'

/** Printed by `chain-agent keys-report`, and read by the agent, which has no permissions on the files. */
const schema = z.object({
  version: z.literal(1),
  files: z.array(
    z.object({
      key: z.enum(KEYS),
      kind: z.enum(KEY_KINDS),
      state: z.enum(KEY_STATES).nullable(),
      why: z.string().max(80).nullable(),
      writtenAt: z.number().nullable(),
      copies: z.number().int().nonnegative().nullable(),
    }),
  ),
})

interface ExaminerOptions extends Omit<KeyExaminerOptions, 'files'> {
  readonly keyFiles: KeyExaminerOptions['files']
  readonly readKeyReport: ReadReport | null
}

/** Uses the report of a privileged unit if one is configured; else the agent checks the files itself. */
export const chooseExaminer = ({ keyFiles, readKeyReport, ...others }: ExaminerOptions): ExamineKeys =>
  readKeyReport === null
    ? createKeyExaminer({ files: keyFiles, ...others })
    : async (signal) => parseKeyReport(await readKeyReport(signal))

export const renderKeyReport = (files: readonly KeyFile[]): string =>
  `${JSON.stringify({ version: 1, files }, undefined, 2)}\n`

/** Throws a ParseError without a quote: the configured file may be a key by mistake. */
const parseKeyReport = (text: string): readonly KeyFile[] => {
  const report = schema.safeParse(tryJson(text)).data
  if (report) return report.files
  throw new ParseError('the report on key files', 'the output of chain-agent keys-report', '')
}
