/** The shapes that only the legacy wire has, as an entry of their own: it goes when the legacy era goes. */

export {
  ElicitationCompleteNotificationParams,
  InitializeRequestParams,
  InitializeResult,
  LegacyCallToolRequestParams,
  LegacyClientCapabilities,
  LegacyCreateMessageRequestParams,
  LegacyElicitRequestFormParams,
  LegacyElicitRequestParams,
  LegacyElicitRequestURLParams,
  LegacyServerCapabilities,
  SetLevelRequestParams,
  URLElicitationRequired,
} from './eras/legacy-shapes.ts'
export {
  ClientTasksCapability,
  CreateTaskResult,
  LegacyListToolsResult,
  LegacyTool,
  ListTasksResult,
  RELATED_TASK_KEY,
  ServerTasksCapability,
  Task,
  TaskMetadata,
  TaskRequestParams,
  TaskResult,
  TaskStatus,
  TaskStatusNotificationParams,
  ToolExecution,
} from './eras/legacy-tasks.ts'
