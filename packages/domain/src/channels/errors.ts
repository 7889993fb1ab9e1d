import type { ErrorKind } from '../error-kind.ts';

export const channelErrors = {
  channel_not_found: { status: 404, meaning: 'There is no such channel, or the agent has none of it.' },
  message_not_found: { status: 404, meaning: 'The agent has no such message.' },
  approval_not_found: { status: 404, meaning: 'Nobody waits with this code.' },
  channel_conflict: {
    status: 409,
    meaning: "Another agent's channel uses the same bot or account; the platform would give its messages to either.",
  },
  gmail_not_configured: { status: 409, meaning: 'The operator has given no Google client (LODGE_GOOGLE_CLIENT_ID).' },
  message_not_retryable: {
    status: 409,
    meaning: 'Only a message that failed, or whose outcome is unknown, can be retried.',
  },
} as const satisfies Readonly<Record<string, ErrorKind>>;
