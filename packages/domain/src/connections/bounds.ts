/** Bounds on connections. */
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
  /** Characters of the values of all headers together. */
  headerChars: 4_096,
  tools: 128,
  toolNameChars: 128,
  /** Answers containing the credential within an hour; the last of them disables the connection. */
  echoesPerHour: 3,
} as const;
