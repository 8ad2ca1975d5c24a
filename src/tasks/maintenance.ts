import type { Config } from '../config/schema.ts'
import { type Announcements, createAnnouncements } from '../sources/announcements.ts'

/** What is announced to the agent that runs with this configuration. */
export const openAnnouncements = ({ state }: Config): Announcements =>
  createAnnouncements(state.directory)
