import type { ErrorKind } from '../error-kind.ts';

export const webhookErrors = {
  webhook_not_found: { status: 404, meaning: 'The account has no such webhook.' },
  delivery_not_found: { status: 404, meaning: 'The webhook has no such delivery.' },
  webhook_disabled: { status: 409, meaning: 'The webhook is disabled: enable it first.' },
} as const satisfies Readonly<Record<string, ErrorKind>>;
