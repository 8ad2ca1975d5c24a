import { z } from 'zod'
import { ParseError } from '../../core/errors.ts'
import { KEY_KINDS, KEY_STATES, KEYS } from './definition.ts'
import type { ReadReport } from '../../sources/report-file.ts'
import { createKeyExaminer, type ExamineKeys, type ExaminerParts, type KeyFile } from './files.ts'

/** What `chain-agent keys-report` prints, and the agent without rights reads. */
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

interface Choice extends Omit<ExaminerParts, 'files'> {
  readonly keyFiles: ExaminerParts['files']
  readonly readKeyReport: ReadReport | null
}

/** By the report of a privileged unit, where there is one; else with the agent's own eyes. */
export const chooseExaminer = ({ keyFiles, readKeyReport, ...others }: Choice): ExamineKeys =>
  readKeyReport === null
    ? createKeyExaminer({ files: keyFiles, ...others })
    : async (signal) => parseKeyReport(await readKeyReport(signal))

export const renderKeyReport = (files: readonly KeyFile[]): string =>
  `${JSON.stringify({ version: 1, files }, undefined, 2)}\n`

/** Throws a ParseError that quotes nothing: whoever names the wrong file in the settings may have named a key. */
const parseKeyReport = (text: string): readonly KeyFile[] => {
  const report = schema.safeParse(readJson(text)).data
  if (report) return report.files
  throw new ParseError('the report on key files', 'what chain-agent keys-report prints', '')
}

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
