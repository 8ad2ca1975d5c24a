import { parentPort, workerData } from 'node:worker_threads'
import { compareSync } from 'bcryptjs'

// Compares one password with one hash, in a thread of its own: this takes from a millisecond to seconds of CPU. The data
// is the hash, which has 60 characters, and the password.
const given = String(workerData)
parentPort?.postMessage(compareSync(given.slice(60), given.slice(0, 60)))
