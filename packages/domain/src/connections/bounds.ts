/** How much of a connection there may be. */
export const connectionBounds = {
  perAgent: 32,
  /** Entries of one `allow`, and paths of one entry. */
  allow: 32,
  paths: 32,
  pathChars: 2_048,
  urlChars: 2_048,
  headers: 8,
  headerNameChars: 64,
  headerValueChars: 4_096,
  /** Of the values of all headers together. */
  headerChars: 4_096,
  tools: 128,
  toolNameChars: 128,
  /** Answers that held the credential, within an hour: with the last of them the connection is disabled. */
  echoesPerHour: 3,
} as const;
