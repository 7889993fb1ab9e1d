/** Headers that owners set for a connection, and those of them that are credentials. */

/** Headers of the transport between two machines, or headers that decide where a request goes. */
const ownHeaders = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie2',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'last-event-id',
  'proxy-authenticate',
  'proxy-connection',
  'range',
  'if-range',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Whether an owner may set the header, whose name is lower case. */
export const mayBeSet = (name: string): boolean => !ownHeaders.has(name) && !name.startsWith('mcp-');

/** Headers whose values are no secrets, because answers may contain the same words. */
const openHeaders = new Set(['accept', 'accept-language', 'user-agent']);
/** Ends of header names whose values are a place or an owner. Answers name organizations and projects by the same words. */
const openNames = /(?:^|-)(?:version|organi[sz]ation|org|project|tenant|workspace|account|team|region)(?:-id|-name)?$/;

/** Whether an answer that contains the value of this header (named in lower case) is kept from the guest. */
export const isCredentialHeader = (name: string): boolean => !openHeaders.has(name) && !openNames.test(name);
