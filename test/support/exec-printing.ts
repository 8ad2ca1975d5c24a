import type { Exec, Program } from '../../src/sources/exec.ts'

/** Programs that print this and end with status 0. */
export const execPrinting = (print: (program: Program) => string | Promise<string>): Exec => ({
  run: async (program) => ({ exitCode: 0, stdout: await print(program), stderr: '' }),
  async *stream(program) {
    yield Buffer.from(await print(program))
  },
  killAll: () => undefined,
})
