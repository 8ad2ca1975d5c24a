import { examinePages } from './scenarios.ts'

examinePages({ part: 0, parts: 2 })
