import { NamedError } from '@lodge/domain';

/** A repository or a hub could not be read. The message is for the owner, and follows the name of the field. */
export class SourceFailure extends NamedError {}

/** The request names what is not there. */
export class NotThere extends NamedError {}
