/** The resources: their error codes and event types. Each is in its own folder. */
import { browserErrors } from './browser/errors.ts';
import { browserEvents } from './browser/events.ts';
import { channelErrors } from './channels/errors.ts';
import { channelEvents } from './channels/events.ts';
import { confirmationErrors } from './confirmations/errors.ts';
import { confirmationEvents } from './confirmations/events.ts';
import { connectionErrors } from './connections/errors.ts';
import { connectionEvents } from './connections/events.ts';
import { hookErrors } from './hooks/errors.ts';
import { hookEvents } from './hooks/events.ts';
import { scheduleErrors } from './schedules/errors.ts';
import { scheduleEvents } from './schedules/events.ts';
import { skillErrors } from './skills/errors.ts';
import { skillEvents } from './skills/events.ts';
import { snapshotErrors } from './snapshots/errors.ts';
import { snapshotEvents } from './snapshots/events.ts';
import { webhookErrors } from './webhooks/errors.ts';

export const resourceErrors = {
  ...browserErrors,
  ...channelErrors,
  ...scheduleErrors,
  ...hookErrors,
  ...confirmationErrors,
  ...connectionErrors,
  ...webhookErrors,
  ...skillErrors,
  ...snapshotErrors,
} as const;

export const resourceEvents = {
  ...channelEvents,
  ...scheduleEvents,
  ...hookEvents,
  ...connectionEvents,
  ...confirmationEvents,
  ...skillEvents,
  ...browserEvents,
  ...snapshotEvents,
} as const;
