import { ApiError } from './api.ts';

const sentences: Readonly<Record<string, string>> = {
  unreachable: 'Lodge cannot be reached. Check your connection and try again.',
  invalid_credentials: 'E-mail or password is wrong.',
  invalid_code: 'That code is not right. Codes change every 30 seconds: try the one shown now.',
  email_taken: 'An account with this e-mail exists already. Sign in with it instead.',
  device_code_not_found: 'No machine waits with this code. Check it, or begin again on the machine.',
  invalid_client: 'This program is not known here. Connect it anew in the program itself.',
  invalid_redirect_uri: 'The program wants its answer at an address that it did not register. It gets nothing.',
  link_not_valid: 'This link has been used, has expired or never existed.',
  registration_closed: 'This Lodge takes new people by invitation only.',
  owner_only: 'Only the owner of this Lodge can do this.',
  csrf_refused: 'The server did not accept this request as coming from this page. Reload the page and try again.',
};

/** Returns the problem in a sentence for the person at the screen. `here` explains some codes for this place. */
export function explain(error: unknown, here: Readonly<Record<string, string>> = {}): string {
  if (!(error instanceof ApiError)) return 'Something unexpected happened on this page. Reload it and try again.';
  if (error.code === 'rate_limit_exceeded')
    return `Too many attempts. Try again in ${waitOf(error.retryAfterSeconds)}.`;
  const known = here[error.code] ?? sentences[error.code];
  if (known !== undefined) return known;
  if (error.status >= 500) return 'The server had a problem with this. Try again in a moment.';
  return error.message;
}

function waitOf(seconds: number | undefined): string {
  if (seconds === undefined) return 'a moment';
  if (seconds <= 90) return `${Math.max(1, Math.ceil(seconds))} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
