import type { NewLogEntry } from '@lodge/ports';
import { snake } from '../database/database.ts';
import type { Transaction } from '../database/database.ts';
import { appendLog as append } from './log-rows.ts';

/** Appends lines to the agent's log. */
export const appendLog = (trx: Transaction, agentId: string, entries: readonly NewLogEntry[]): Promise<void> =>
  append(snake(trx), agentId, entries);
