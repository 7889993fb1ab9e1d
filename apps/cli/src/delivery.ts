/** Options that say where the answers of a schedule or a hook go. */
import type { CreateSchedule } from '@lodge/sdk';
import type { Command } from 'commander';
import { usageError } from './failure.ts';

export interface Delivery {
  readonly deliver?: string;
}

export const withDelivery = (command: Command): Command =>
  command.option(
    '--deliver <where>',
    'where answers go: none, webhook, or CHANNEL:CONVERSATION such as slack:C012AB3CD',
  );

/** Returns the field `deliver` of a request. */
export function deliverOf({ deliver }: Delivery): CreateSchedule['deliver'] {
  if (deliver === undefined) return undefined;
  if (deliver === 'none' || deliver === 'webhook') return { to: deliver };
  const at = deliver.indexOf(':');
  const channel = deliver.slice(0, at);
  if (at < 1 || deliver.length === at + 1)
    throw usageError(
      '--deliver takes none, webhook, or CHANNEL:CONVERSATION.',
      '`lodge messages list AGENT` shows conversations.',
    );
  return { to: 'channel', channel, conversation: deliver.slice(at + 1) } as CreateSchedule['deliver'];
}
