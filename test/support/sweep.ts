import { sweepSandboxes } from './sandbox.ts'

/** Before and after the suites: what a killed run left behind is ours to remove. */
export const setup = sweepSandboxes
export const teardown = sweepSandboxes
