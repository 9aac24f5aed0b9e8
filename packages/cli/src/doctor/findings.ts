/** The findings of `mcpx doctor`: why each finding matters, and how to fix it. */

/** The severity of a finding. `error`: clients fail. `warning`: some clients fail, or the server works badly. */
export type Level = 'error' | 'warning'

interface Explanation {
  readonly level: Level
  readonly why: string
  readonly fix: string
  readonly link: string
}

const SPEC = 'https://modelcontextprotocol.io/specification/2025-11-25'
const TRANSPORT = `${SPEC}/basic/transports#streamable-http`
const SESSIONS = `${SPEC}/basic/transports#session-management`
const AUTHORIZATION = `${SPEC}/basic/authorization`
const TOOLS = `${SPEC}/server/tools`
const MODERN = 'https://modelcontextprotocol.io/specification/2026-07-28'
const LOCAL = 'https://modelcontextprotocol.io/docs/develop/connect-local-servers'
const FETCH = 'https://developer.mozilla.org/docs/Web/HTTP/CORS'

const error = (why: string, fix: string, link: string): Explanation => ({ level: 'error', why, fix, link })
const warning = (why: string, fix: string, link: string): Explanation => ({ level: 'warning', why, fix, link })

/** All findings by id. The ids are part of the public interface: `--json` prints them. */
export const FINDINGS = {
  // Network
  'no-address': error('Clients cannot find the host.', 'Check the name, and create its DNS record.', TRANSPORT),
  'no-connection': error(
    'Nothing listens at this address.',
    'Start the server, and check the port and the firewall.',
    TRANSPORT,
  ),
  'connection-lost': error(
    'The server or a proxy closes connections.',
    'Look into the log of the server and of proxies before it.',
    TRANSPORT,
  ),
  'no-response': error(
    'Clients give up after 30 to 60 seconds.',
    'Find out what the server waits for; a proxy may have the wrong port.',
    TRANSPORT,
  ),
  'certificate-expired': error('Clients refuse the connection.', 'Renew the certificate.', TRANSPORT),
  'certificate-name': error(
    'Clients refuse a certificate of another host.',
    'Use a certificate that contains this host name.',
    TRANSPORT,
  ),
  'certificate-untrusted': error(
    'Clients trust only certificates of known authorities.',
    'Use a certificate of a public authority, and send its whole chain.',
    TRANSPORT,
  ),
  'tls-on-http': error(
    'The port speaks plain HTTP, and the URL says https.',
    'Write http:// for this port, or put a TLS proxy before it.',
    TRANSPORT,
  ),
  'plain-http': warning(
    'Tokens and data can be read on the way, and hosted clients refuse http:// URLs.',
    'Serve it by HTTPS.',
    `${SPEC}/basic/authorization#communication-security`,
  ),
  slow: warning(
    'Some clients give up a handshake after 5 to 10 seconds.',
    'Do slow work after the handshake, or keep an instance warm.',
    TRANSPORT,
  ),
  redirect: error(
    'Most clients do not follow redirects of a POST, or lose its body and its credentials.',
    'Give users the URL that it redirects to.',
    TRANSPORT,
  ),
  // The endpoint
  'not-found': error('There is no MCP endpoint at this path.', 'Check the path; it is often /mcp.', TRANSPORT),
  'post-refused': error(
    'Clients send every message by POST.',
    'Allow POST on this path, also in proxies and in the routes of the framework.',
    TRANSPORT,
  ),
  'accept-refused': error(
    'The protocol requires clients to send this header.',
    'Accept requests whose Accept header lists application/json and text/event-stream.',
    TRANSPORT,
  ),
  'content-type-refused': error(
    'The protocol requires clients to send this header.',
    'Accept Content-Type: application/json.',
    TRANSPORT,
  ),
  'handshake-refused': error(
    'Clients of the legacy revisions begin with initialize.',
    'Answer initialize with 200 and a result.',
    `${SPEC}/basic/lifecycle`,
  ),
  forbidden: error(
    'A rule about the origin, the host, the address or the user agent refuses clients.',
    'Allow this host name and requests without an Origin, and check firewalls that refuse programs.',
    TRANSPORT,
  ),
  'server-failed': error(
    'The server cannot be used.',
    'Look into its log; a status of 502 or 504 comes from a proxy whose server does not answer.',
    TRANSPORT,
  ),
  'rate-limited': warning(
    'Users see an error instead of tools.',
    'Raise the limit for handshakes, and send Retry-After.',
    TRANSPORT,
  ),
  'content-type': error(
    'Clients expect application/json or text/event-stream.',
    'Send the right Content-Type; an HTML page often comes from a login page or a proxy.',
    TRANSPORT,
  ),
  'invalid-json': error(
    'Clients cannot read the response.',
    'Send one JSON-RPC message in UTF-8, without a byte order mark.',
    `${SPEC}/basic#messages`,
  ),
  'not-json-rpc': error(
    'Clients cannot match the response to its request.',
    'Send jsonrpc, the id of the request, and a result or an error.',
    `${SPEC}/basic#messages`,
  ),
  'invalid-handshake': error(
    'Clients need these members before they continue.',
    'Return protocolVersion, capabilities and serverInfo with name and version.',
    `${SPEC}/basic/lifecycle`,
  ),
  'unknown-revision': error(
    'Clients disconnect from revisions that they do not know.',
    'Return the requested revision, or the newest one that the server supports.',
    `${SPEC}/basic/lifecycle#version-negotiation`,
  ),
  'empty-stream': error(
    'The stream ended without the response.',
    'Send the response before you close the stream.',
    TRANSPORT,
  ),
  'compressed-stream': warning(
    'Compression holds events back until its buffer is full.',
    'Switch compression off for text/event-stream.',
    TRANSPORT,
  ),
  'buffered-stream': warning(
    'A proxy may hold events back until the stream ends.',
    'Send X-Accel-Buffering: no and Cache-Control: no-cache, or switch buffering off in the proxy.',
    TRANSPORT,
  ),
  'held-stream': warning(
    'Progress, questions and changes arrive late or never: a proxy holds the stream back until it ends, or the server sends no headers before the first event.',
    'Switch buffering off in the proxy, and send the headers of a stream before its first event.',
    TRANSPORT,
  ),
  'notification-status': warning(
    'Some clients expect 202 without a body.',
    'Answer notifications with 202.',
    TRANSPORT,
  ),
  'get-status': warning(
    'Clients that try GET take other statuses for a broken server.',
    'Answer GET with an event stream, or with 405.',
    `${TRANSPORT}-listening-for-messages-from-the-server`,
  ),
  // Sessions and revisions
  'session-id': error('Clients refuse ids with other characters.', 'Use visible ASCII characters.', SESSIONS),
  'lost-session': warning(
    'Clients initialize again only after 404, for example when the server was restarted.',
    'Answer a request of an unknown session with 404.',
    SESSIONS,
  ),
  'delete-status': warning(
    'Clients end sessions by DELETE.',
    'Answer DELETE with 200 or 204, or with 405 if clients may not end sessions.',
    SESSIONS,
  ),
  'version-unchecked': warning(
    'A client of another revision gets results that it does not understand.',
    'Answer an unknown MCP-Protocol-Version with 400.',
    `${SPEC}/basic/transports#protocol-version-header`,
  ),
  'discover-failed': warning(
    'Clients of 2026-07-28 begin with server/discover and fall back only after a JSON-RPC error or a status of 4xx.',
    'Answer unknown methods with the error -32601.',
    MODERN,
  ),
  // Browsers
  'no-preflight': warning(
    'Clients in browsers, such as the Inspector, cannot connect.',
    'Answer OPTIONS with 204 and the headers of CORS, before authentication.',
    FETCH,
  ),
  'cors-headers': warning(
    'Clients in browsers may not send these headers.',
    'List them in Access-Control-Allow-Headers.',
    FETCH,
  ),
  'origin-unchecked': warning(
    'Any web page can use a server on the machine of its user (DNS rebinding).',
    'Refuse requests with an Origin that is not allowed.',
    `${SPEC}/basic/transports#security-warning`,
  ),
  // Authorization
  'no-challenge': error(
    'Clients do not learn where to log in.',
    'Send WWW-Authenticate: Bearer resource_metadata="…" with 401.',
    `${AUTHORIZATION}#authorization-server-location`,
  ),
  'no-resource-metadata': error(
    'Clients do not learn which authorization server to use.',
    'Serve /.well-known/oauth-protected-resource with the path of the endpoint.',
    `${AUTHORIZATION}#authorization-server-location`,
  ),
  'resource-mismatch': error(
    'Clients refuse metadata of another resource, so that tokens cannot be stolen.',
    'Set "resource" to the URL that users enter.',
    `${AUTHORIZATION}#resource-parameter-implementation`,
  ),
  'no-authorization-server': error(
    'Clients do not know where to log in.',
    'List the issuer in "authorization_servers".',
    AUTHORIZATION,
  ),
  'no-server-metadata': error(
    'Clients find no endpoints to log in.',
    'Serve /.well-known/oauth-authorization-server or openid-configuration of the issuer.',
    `${AUTHORIZATION}#authorization-server-metadata-discovery`,
  ),
  'issuer-mismatch': error(
    'Clients compare the issuer character by character, and refuse another one.',
    'Use the same text in "authorization_servers" and in "issuer", also for a slash at the end.',
    'https://www.rfc-editor.org/rfc/rfc8414#section-3.3',
  ),
  'missing-endpoints': error(
    'Clients cannot log in.',
    'Add authorization_endpoint and token_endpoint to the metadata.',
    AUTHORIZATION,
  ),
  'no-pkce': error(
    'Clients refuse authorization servers that do not state PKCE with S256.',
    'Add "code_challenge_methods_supported": ["S256"].',
    `${AUTHORIZATION}#authorization-code-protection`,
  ),
  'no-registration': warning(
    'Users must register each client by hand.',
    'Support client id metadata documents or dynamic registration, or put an OAuth front before the provider.',
    `${AUTHORIZATION}#client-registration-approaches`,
  ),
  'scope-resource': warning(
    'Microsoft Entra refuses a resource that does not fit the scopes (AADSTS9010010).',
    'Use the application id URI as "resource", or leave the resource parameter out in clients that can.',
    AUTHORIZATION,
  ),
  // Tools
  'lists-failed': error('Clients show no tools.', 'Look into the log of the server for this request.', TOOLS),
  'no-tools': warning(
    'Most hosts use nothing but tools.',
    'Register a tool, and declare the capability "tools".',
    TOOLS,
  ),
  'tool-name': warning(
    'Model APIs refuse such names, and then all tools of the request.',
    'Use 1 to 64 letters, digits, _ and -.',
    TOOLS,
  ),
  'tool-twice': error('Clients cannot tell the tools apart.', 'Give each tool a name of its own.', TOOLS),
  'no-description': warning(
    'The model does not know when to use the tool.',
    'Describe what it does and when to use it.',
    TOOLS,
  ),
  'tool-schema': error('Clients refuse the whole list.', 'Use a JSON Schema with "type": "object".', TOOLS),
  'model-schema': warning(
    'Some model APIs refuse the schema, or part of it, and then all tools of the request.',
    'Use plain objects, lists, strings, numbers, booleans and enums at this place.',
    TOOLS,
  ),
  'many-tools': warning(
    'Hosts limit the number of tools, for example to 40 or 128, and models choose worse.',
    'Offer fewer tools, or a search over them.',
    TOOLS,
  ),
  'large-list': warning(
    'The definitions fill the context of the model before the first question.',
    'Shorten descriptions and schemas.',
    TOOLS,
  ),
  // Settings of hosts
  'config-syntax': error('The host ignores the whole file.', 'Mend the file at this place.', LOCAL),
  'config-root': error('The host looks for servers in another member, and finds none.', 'Rename the member.', LOCAL),
  'config-name-twice': error(
    'The host reads the last of both, and ignores the other one.',
    'Rename one of them, or delete it.',
    LOCAL,
  ),
  'config-key': error(
    'Hosts have different names for the same member, and this one ignores it.',
    'Use the name of this host.',
    LOCAL,
  ),
  'config-value': error('The host refuses the entry, or the whole file.', 'Write a value of this type.', LOCAL),
  'config-transport': error(
    'The host does not know how to reach the server.',
    'Give a command to start, or a URL.',
    LOCAL,
  ),
  'config-type': error(
    'Without a type, Claude Code expects a command.',
    'Add "type": "http", or "sse" for an old server.',
    'https://code.claude.com/docs/en/mcp',
  ),
  'config-remote': error(
    'Claude Desktop ignores URLs in this file.',
    'Add the URL as a connector in Settings, or start a bridge such as mcp-remote.',
    LOCAL,
  ),
  'config-url': error('The host cannot connect.', 'Write the whole URL of the endpoint.', LOCAL),
  'config-http': warning(
    'Tokens and data can be read on the way, and hosts refuse such URLs or their login.',
    'Write https://.',
    `${SPEC}/basic/authorization#communication-security`,
  ),
  'config-command': error(
    'The host cannot start the server.',
    'Install the program, or write its full path: hosts with windows often have another PATH than your shell.',
    LOCAL,
  ),
  'config-command-line': error(
    'The host looks for a program of this whole name.',
    'Put the arguments into "args".',
    LOCAL,
  ),
  'config-file': error('The program starts, does not find the file, and exits.', 'Correct the path.', LOCAL),
  'config-relative-path': error(
    'The host starts the server in a folder of its own, where the file does not exist.',
    'Write the full path.',
    LOCAL,
  ),
  'config-windows-script': error(
    'On Windows this program is a script, which hosts cannot start by themselves.',
    'Start it by cmd /c.',
    LOCAL,
  ),
  'config-variable': error(
    'The host passes the text on as it is, or refuses the file.',
    'Set the variable before the host starts.',
    LOCAL,
  ),
  'config-placeholder': error(
    'The server gets no usable value, and refuses calls or exits.',
    'Fill in the value.',
    LOCAL,
  ),
} as const satisfies Readonly<Record<string, Explanation>>

/** The id of a finding. */
export type FindingId = keyof typeof FINDINGS

/** A problem that a check has found. */
export interface Finding extends Explanation {
  readonly id: FindingId
  /** The observation: the request and the response, or the place in a file. */
  readonly seen: string
  /** The corrected text, if the check can determine it. */
  readonly hint?: string
}

/** Collects the findings and the successful checks. */
export class Diagnosis {
  readonly findings: Finding[] = []
  /** The successful checks, as sentences. */
  readonly passed: string[] = []
  /** The names of the proxies and frameworks that were recognized. */
  readonly recognized: string[] = []

  /** Records a finding. The same finding with the same observation is recorded once. */
  add(id: FindingId, seen: string, hint?: string): void {
    if (this.findings.some((finding) => finding.id === id && finding.seen === seen)) return
    this.findings.push({ id, seen, ...FINDINGS[id], ...(hint !== undefined && { hint }) })
  }

  /** Records a successful check. */
  pass(sentence: string): void {
    this.passed.push(sentence)
  }
}
