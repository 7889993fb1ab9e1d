import { NamedError } from '@lodge/domain';

/**
 * Thrown when a build cannot go on. `message` names the failure and the remedy for the operator; a tool's own words are in
 * the log.
 */
export class ImageError extends NamedError {}
