/** Who was seen within a span of time; no more than so many, of whom the longest unseen is forgotten. */
export interface SeenPeers {
  see(peer: string, at: number): void
  /** How many were seen at this moment or after it. */
  countSince(from: number): number
}

export const createSeenPeers = (limit: number): SeenPeers => {
  /** In the order in which they were last seen. */
  const seenAt = new Map<string, number>()
  const forgetFirst = (isFirst: (at: number) => boolean): void => {
    for (const [peer, at] of seenAt) {
      if (!isFirst(at)) return
      seenAt.delete(peer)
    }
  }
  return {
    see: (peer, at) => {
      const latest = Math.max(at, seenAt.get(peer) ?? 0)
      seenAt.delete(peer)
      seenAt.set(peer, latest)
      forgetFirst(() => seenAt.size > limit)
    },
    countSince: (from) => {
      forgetFirst((at) => at < from)
      return seenAt.size
    },
  }
}
