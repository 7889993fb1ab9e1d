import type { Delivery, Unsayable } from '@lodge/ports';
import { snake } from '../database/database.ts';
import type { Transaction } from '../database/database.ts';
import { whyUndeliverable as why } from './deliver.ts';

/** Returns null when an answer could be delivered now, or goes into no conversation. */
export const whyUndeliverable = (
  trx: Transaction,
  agent: { readonly accountId: string; readonly agentId: string },
  deliver: Delivery,
): Promise<Unsayable | null> => why(snake(trx), agent, deliver);
