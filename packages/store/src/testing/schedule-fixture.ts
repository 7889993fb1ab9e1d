import { randomInt } from 'node:crypto';
import { makeAgentId } from '@lodge/domain';
import type { PlannedSettings } from '@lodge/ports';

export const scheduleId = (): string => makeAgentId(randomInt);

/** Returns a schedule that is due. */
export const planned = (given: Partial<PlannedSettings> = {}): PlannedSettings => ({
  name: 'S',
  enabled: true,
  cron: '0 9 * * *',
  every: null,
  at: null,
  timeZone: 'UTC',
  prompt: 'Say hello.',
  conversation: null,
  deliver: { to: 'none', channel: null, conversation: null },
  wake: true,
  anchor: new Date('2026-01-01T00:00:00Z'),
  nextRunAt: new Date(Date.now() - 1_000),
  ...given,
});
