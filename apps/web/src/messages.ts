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
  const known = here[error.code] ?? sentences[error.code];
  if (known !== undefined) return known;
  const sentence = sentenceOf(error);
  const { status, retryAfterSeconds } = error;
  if (status !== 429 || retryAfterSeconds === undefined || sentence.includes('Try again')) return sentence;
  return `${sentence} Try again in ${waitOf(retryAfterSeconds)}.`;
}

/** The API's own sentence; where something else has answered in its place, one of ours. */
function sentenceOf({ code, status, message }: ApiError): string {
  if (code !== `http_${status}`) return message;
  if (status === 429) return 'Too many requests.';
  return status >= 500 ? 'The server had a problem with this. Try again in a moment.' : message;
}

/** The name of the request for the operator, where the operator may have to look for it. */
export function requestOf(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || (error.status < 500 && error.status !== 429)) return undefined;
  return error.requestId?.slice(0, 64);
}

function waitOf(seconds: number): string {
  if (seconds <= 90) return seconds <= 1 ? 'a second' : `${Math.ceil(seconds)} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
