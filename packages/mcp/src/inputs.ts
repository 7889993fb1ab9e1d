/** Fields that several tools take. Lists and maps are left out on purpose: a wrong one would have a long list of errors. */
import * as z from 'zod';

export const agentId = z
  .string()
  .regex(/^[a-z][a-z0-9]{11}$/)
  .describe('Id of the agent, as list_agents shows it.');

export const cursor = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[\w.-]+$/)
  .optional()
  .describe('next_cursor of the result before, for what follows it.');

export const limitOf = (max: number, byDefault: number, what: string) =>
  z.int().min(1).max(max).default(byDefault).describe(`Most ${what} in one result.`);

export const time = (description: string) =>
  z.string().min(10).max(40).optional().describe(`${description} A timestamp such as 2026-01-31T12:00:00Z.`);

export const timeZone = z
  .string()
  .min(1)
  .max(64)
  .optional()
  .describe('A name of the time zone database, such as Europe/Berlin. UTC by default.');

export const path = (description: string) =>
  z
    .string()
    .min(1)
    .max(4096)
    .refine(isInside, 'must have a name between two slashes, and no . and ..')
    .describe(description);

/** Whether every name in a path is one. A slash at either end does not count. */
function isInside(path: string): boolean {
  const from = path.startsWith('/') ? 1 : 0;
  const names = path.slice(from, path.endsWith('/') ? -1 : undefined).split('/');
  return path.length <= 1 || !names.some((name) => name === '' || name === '.' || name === '..');
}

export const nextCursor = z.string().nullable().describe('Give it as cursor to read on; null: that was all.');
