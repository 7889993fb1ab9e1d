import type { ErrorKind } from '../error-kind.ts';

export const channelErrors = {
  channel_not_found: {
    status: 404,
    type: 'not_found_error',
    meaning: 'There is no such channel, or the agent has none of it.',
  },
  message_not_found: { status: 404, type: 'not_found_error', meaning: 'The agent has no such message.' },
  approval_not_found: { status: 404, type: 'not_found_error', meaning: 'Nobody waits with this code.' },
  channel_conflict: {
    status: 409,
    type: 'invalid_request_error',
    meaning: "Another agent's channel uses the same bot or account; the platform would give its messages to either.",
  },
  gmail_not_configured: {
    status: 409,
    type: 'invalid_request_error',
    meaning: 'The operator has given no Google client (LODGE_GOOGLE_CLIENT_ID).',
  },
  message_not_retryable: {
    status: 409,
    type: 'invalid_request_error',
    meaning: 'Only a message that failed, or whose outcome is unknown, can be retried.',
  },
} as const satisfies Readonly<Record<string, ErrorKind>>;
