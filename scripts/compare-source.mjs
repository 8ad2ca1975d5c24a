// Compares the log patterns, parsers, metrics and facts of the agent with clones of the node's source.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ALL_NODE_METRICS } from '../.cache/modules/collectors/native/node-metrics.js'
import { NODE_FACTS } from '../.cache/modules/core/node-facts.js'
import { MESSAGES } from '../.cache/modules/parsers/consensus-log.js'
import { patternsOf } from '../.cache/modules/parsers/log-patterns/classify.js'
import { LOG_PATTERNS } from '../.cache/modules/parsers/log-patterns/list.js'
import { CloneError, openClone } from './compare-source/clone.mjs'
import { compareDefinitions, createSourceIndex, listReports } from './compare-source/compare.mjs'

const RECORD = new URL('compare-source/recorded.txt', import.meta.url)
