import { createRunbooks, type Runbooks } from '../sources/runbooks.ts'

/** The runbooks that the package brings along. */
export const openRunbooks = (): Runbooks => createRunbooks()
