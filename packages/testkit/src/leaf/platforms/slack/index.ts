/** Stands in for the platform, in its own protocol. */
export {};
