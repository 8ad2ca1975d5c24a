/** A set with at most N members; adding one more removes the oldest. */
export interface RecentSet {
  /** Returns whether the member was new. */
  add(member: string): boolean
  /** The members, oldest first. */
  all(): readonly string[]
}

export const createRecentSet = (limit: number): RecentSet => {
  const members = new Set<string>()
  return {
    add: (member) => {
      if (members.has(member)) return false
      members.add(member)
      if (members.size > limit) {
        const { value: oldest } = members.values().next()
        if (oldest !== undefined) members.delete(oldest)
      }
      return true
    },
    all: () => [...members],
  }
}
