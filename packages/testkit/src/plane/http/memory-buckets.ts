/** For tests: rate limits as the database counts them, in memory. */
import { refilled } from '@lodge/domain';
import type { LimitStore } from '@lodge/ports';

export function memoryBuckets(): LimitStore {
  const all = new Map<string, { readonly tokens: number; readonly at: number }>();
  return {
    async lease(subject, rule, wanted, returned) {
      const now = performance.now();
      const bucket = all.get(subject) ?? { tokens: rule.perMinute, at: now };
      const there = refilled(bucket.tokens + returned, rule, now - bucket.at);
      const granted = Math.min(wanted, Math.floor(there));
      all.set(subject, { tokens: there - granted, at: now });
      return { granted, left: there - granted };
    },
    enter: async () => 'place',
    leave: async () => undefined,
    prune: async () => undefined,
  };
}
