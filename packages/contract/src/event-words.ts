/** The types of events that clients may follow, with their meanings, for pages that let people choose. */
export { publicEvents } from '@lodge/domain';
